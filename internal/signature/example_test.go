package signature_test

import (
	"fmt"

	"teamdata/internal/signature"
)

func ExampleSign() {
	secret, err := signature.ParseSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		fmt.Println(err)
		return
	}
	body := []byte(`{"test": 2432232314}`)
	header := signature.Sign(nil, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, body, secret)
	fmt.Println(string(header))
	fmt.Println(secret)
	// Output:
	// v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=
	// whsec_[redacted]
}
