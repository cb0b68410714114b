package app

import (
	"fmt"

	settingspage "teamdata/admin/settings"
	"teamdata/internal/hint"
	"teamdata/internal/smallfile"
)

// loadBrand reads the brand of the settings page.
func (s *Settings) loadBrand() (brand settingspage.Brand, err error) {
	brand = settingspage.Brand{Name: s.BrandName, Colour: s.BrandColour}
	path := s.BrandLogo
	if path == "" {
		return brand, nil
	}
	logo, err := smallfile.Read(path)
	if err != nil {
		return brand, SettingError{hint.With(fmt.Errorf("--brand-logo: %w", err), "give the path of an SVG or PNG image")}
	}
	if err := settingspage.CheckBrandLogo(logo); err != nil {
		return brand, SettingError{fmt.Errorf("--brand-logo: %s %w", path, err)}
	}
	brand.Logo = logo
	return brand, nil
}
